mod fixtures;
mod made;
mod mutations;
mod archives;
mod proofs;
