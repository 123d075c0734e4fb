//! The first test key of RFC 8032 in every form, and what a signature refuses.

use super::*;

/// RFC 8032, 7.1, test 1.
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const SIGNATURE_OF_NOTHING: &str = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

fn key() -> SigningKey {
    SigningKey::from_seed(&hex::decode_array(SEED).expect("is hexadecimal"))
}

#[test]
fn signatures_agree_with_rfc_8032() {
    assert_eq!(key().public().to_hex(), PUBLIC);
    assert_eq!(hex::encode(&key().sign(b"")), SIGNATURE_OF_NOTHING);
    assert_eq!(
        key().public().to_did_key(),
        "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"
    );
}

#[test]
fn signature_holds_for_its_message_and_key_only() {
    let signature = key().sign(b"message");
    let public = PublicKey::from_hex(&format!("  {PUBLIC}\n")).expect("is a key");
    assert!(public.verifies(b"message", &signature));
    assert!(!public.verifies(b"messagf", &signature));
    assert!(!SigningKey::from_seed(&[7; 32]).public().verifies(b"message", &signature));
    for at in 0..64 {
        let mut broken = signature;
        broken[at] ^= 1;
        assert!(!public.verifies(b"message", &broken), "byte {at}");
    }
}

#[test]
fn key_survives_its_pem_form() {
    let pem = key().to_pem();
    let read = SigningKey::from_pem(&pem).expect("is our own form");
    assert_eq!(read.public(), key().public());
    assert_eq!(SigningKey::from_pem("no key").err(), Some(KeyError::Pem));
    let other = pem.replace("MC4CAQAwBQYDK2Vw", "MC4CAQAwBQYDK2Vx");
    assert_eq!(SigningKey::from_pem(&other).err(), Some(KeyError::Algorithm));
    assert_eq!(PublicKey::from_hex(&PUBLIC.to_uppercase()).err(), Some(KeyError::Public));
    assert_eq!(PublicKey::from_hex("d75a").err(), Some(KeyError::Public));
}
