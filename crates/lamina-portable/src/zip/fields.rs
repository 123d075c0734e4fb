//! Little-endian fields of ZIP records.

/// The rest of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.0.get(..count)?;
        self.0 = self.0.get(count..)?;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The extra field of this number.
pub(super) fn extra_field(extra: &[u8], number: u16) -> Option<&[u8]> {
    let mut fields = Fields(extra);
    loop {
        let id = fields.u16()?;
        let length = usize::from(fields.u16()?);
        let body = fields.bytes(length)?;
        if id == number {
            return Some(body);
        }
    }
}

pub(super) const LOCAL_SIGNATURE: u32 = 0x0403_4b50;
pub(super) const CENTRAL_SIGNATURE: u32 = 0x0201_4b50;
pub(super) const END_SIGNATURE: u32 = 0x0605_4b50;
pub(super) const END64_SIGNATURE: u32 = 0x0606_4b50;
pub(super) const END64_LOCATOR_SIGNATURE: u32 = 0x0706_4b50;
pub(super) const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;

pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const CENTRAL_BYTES: usize = 46;
pub(super) const END_BYTES: usize = 22;
pub(super) const END64_BYTES: usize = 56;
pub(super) const END64_LOCATOR_BYTES: usize = 20;

pub(super) const EXTRA_ZIP64: u16 = 1;
pub(super) const EXTRA_TIMES: u16 = 0x5455;

/// The general-purpose flags that matter.
pub(super) const FLAG_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
pub(super) const FLAG_UTF8: u16 = 1 << 11;
