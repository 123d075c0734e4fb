//! Signatures of other programs: made with OpenSSL over one short text, with keys made for this test.

use crate::pam::{SignatureClaim, SignatureError};

const PAYLOAD: &[u8] = b"the payload of a signature";

/// Algorithm, key, signature.
const VECTORS: [[&str; 3]; 6] = [
    [
        "RS256",
        "-----BEGIN PUBLIC KEY-----\n\
         MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvIRJhBcRgUCKL7wcQxWg\n\
         pVgKlhNjyXKvPcjA3EfcxfyrMf/RK6ce4rPFfDM1Xi41pGyV4YOOarz4gNwfLhvC\n\
         hJxXG+G0K/8clxJh6E7e0r4a5XXyMa/sppca+cS4GlRl0pmtsqbuc8IL2wepuHni\n\
         v5QeH48V+eK3Kt64D0iMwSR8ie8KprbgOSyQ2a42yUuMY6TWfTV2bNn+CI1RaYri\n\
         HIv+nmLdZKZaB5G3M/R8Js5Kp0d8Aamv7YGKt7uc9LjoU1HcvzcP7YC5c4HP+zbx\n\
         ojwe1X+FcX9R5DnQX2tqNjWS9OLXV+Y7C9O6/Lg55ZJ81JtIoUM6wmuiOCJmfN2F\n\
         /wIDAQAB\n\
         -----END PUBLIC KEY-----",
        "lK1L2XXSO75RrT2_m7inLvdgkq8egL_ZKF9xsZinwJTHhtOzbRs9nmrBWI4FdnYYXNm1vc9M-h56iuMX-\
         piSXOPbn4f1zHm2Pz0Xqtvggzk8nbrOZPmoe-AQ4YlAC66lcccSbep-cpMDKoOaKdt7sL2icsr5uBysGaI7o\
         Fulhzc7ovuzXy2JbR3XBpO64f2uSvJZwbvoCJ1tb69alMOjgTFbPKoDBGcgdIUywTlGMkuT63UmUtM7koImr\
         eKzavUmtQxt21YQj_7z_w_wLitzIuJTaNhQEspJV4kdnaX7SZN7HCJkV7JB2VAj2tErCCDq88LOOjZHbZzk0\
         dR8LqKSTQ",
    ],
    [
        "RS384",
        "-----BEGIN RSA PUBLIC KEY-----\n\
         MIIBCgKCAQEAvIRJhBcRgUCKL7wcQxWgpVgKlhNjyXKvPcjA3EfcxfyrMf/RK6ce\n\
         4rPFfDM1Xi41pGyV4YOOarz4gNwfLhvChJxXG+G0K/8clxJh6E7e0r4a5XXyMa/s\n\
         ppca+cS4GlRl0pmtsqbuc8IL2wepuHniv5QeH48V+eK3Kt64D0iMwSR8ie8Kprbg\n\
         OSyQ2a42yUuMY6TWfTV2bNn+CI1RaYriHIv+nmLdZKZaB5G3M/R8Js5Kp0d8Aamv\n\
         7YGKt7uc9LjoU1HcvzcP7YC5c4HP+zbxojwe1X+FcX9R5DnQX2tqNjWS9OLXV+Y7\n\
         C9O6/Lg55ZJ81JtIoUM6wmuiOCJmfN2F/wIDAQAB\n\
         -----END RSA PUBLIC KEY-----",
        "LthNh_Lw5GEWoMinY4X70NyC56NKu1xWfbGnZ58rAnDfngUmbgb2uJW8dv3anGFEAr0J6D734jo9J5nVAs1g\
         mIlk95Fqxu_oWK_WAtGppVLeBWeM3mc5tXs5vvkzSywjrPjlvHizLgGKsREmEe0bKQm8-FXPmTXDiJS0-\
         ZvXGcggd_VgJqCr8U6kSu3NIzZps4tvjfqELrCfmL_fVOArUUu6qWb-\
         qaVFfYKYj8gsmvMlFsl_gi7bwRKd8YO6nHs-kqoPWRjUzHBfuFQFFs0FonagR_H5OvCVjL_G8Bgjv2w8dAWl\
         pttXzgGkm3-T-9SJ2iRFo63X7q3Fz8LJUXLsBg",
    ],
    [
        "RS512",
        r#"{"kty":"RSA","n":"vIRJhBcRgUCKL7wcQxWgpVgKlhNjyXKvPcjA3EfcxfyrMf_RK6ce4rPFfDM1Xi41pGyV4YOOarz4gNwfLhvChJxXG-G0K_8clxJh6E7e0r4a5XXyMa_sppca-cS4GlRl0pmtsqbuc8IL2wepuHniv5QeH48V-eK3Kt64D0iMwSR8ie8KprbgOSyQ2a42yUuMY6TWfTV2bNn-CI1RaYriHIv-nmLdZKZaB5G3M_R8Js5Kp0d8Aamv7YGKt7uc9LjoU1HcvzcP7YC5c4HP-zbxojwe1X-FcX9R5DnQX2tqNjWS9OLXV-Y7C9O6_Lg55ZJ81JtIoUM6wmuiOCJmfN2F_w","e":"AQAB"}"#,
        "QDbQ_FFbj3AQ3x2JZjszknb2T1rY5ZgUe2XIeRpuAzvBC0VMlnyT8cdHa74kQIAta-\
         2QPFUCSCPLMtgmTPpEj9y-DqaYETNLotp56SMDvv7khroqP1t-2T4p1rbdxmvjO-Ral-\
         rkivqVb3_QPeK4By2pSkZxW1uAA488gLOndCDo8613UzNh7mdeeEAthJ2fUcl-EvOYhKr38qNRKMQcal_WV9\
         5Nfz_ShdY2zHABzmureAxnIv6M-\
         kyFEnERZA8oh5YUjnYobbuLsAlUbjIXdL3RPlVUPuFvC547UBuxqDbEuMPjK_Ijod6G_foBMlz0rZtCbZ2Uj\
         ezwe1EfE1WYrQ",
    ],
    [
        "ES256",
        "-----BEGIN PUBLIC KEY-----\n\
         MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEV6+NXNbqlTxyJ1e5jZJ5ka670YAQ\n\
         rzFwnCRSvEX/4yEB63NYkz5Mso2/Ou6lK07x40NLWmQtpiI/1JEJLB6z3A==\n\
         -----END PUBLIC KEY-----",
        "bUDWcMHttEqt-76iLdo0UA5tMergH6MnNyyL8496ajbKdZhNKONM62sV-8FD-\
         Wp4m9Fs9Ls_Ox5M33Q9Xvji9w",
    ],
    [
        "ES384",
        r#"{"kty":"EC","crv":"P-384","x":"iRzKVg9Ay7ZGhmhVkHabSeFCSuVwdu-qzaJgxfBT-nkX2pMLAdK_VlzPWS3VEQ2a","y":"Ln2qKg_PX_CIPHZJ3odUOX5XXblAsAO55gXO3SFzuTlDlWcLBW-vrF7iWWwPor_O"}"#,
        "T3-_gGqa08MM72sr1Xt_qtX45f_ZIyxOlmTgEPjyxluaQ7wDAXjpAs6iCT_s9PE1A8Sxp7IXJ-\
         JcYSkGqe8M_TVSStjxWTrRkJNNANATok7UvoJzFtS454qtbbKTOqDI",
    ],
    [
        "ES384",
        "-----BEGIN PUBLIC KEY-----\n\
         MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEiRzKVg9Ay7ZGhmhVkHabSeFCSuVwdu+q\n\
         zaJgxfBT+nkX2pMLAdK/VlzPWS3VEQ2aLn2qKg/PX/CIPHZJ3odUOX5XXblAsAO5\n\
         5gXO3SFzuTlDlWcLBW+vrF7iWWwPor/O\n\
         -----END PUBLIC KEY-----",
        "T3-_gGqa08MM72sr1Xt_qtX45f_ZIyxOlmTgEPjyxluaQ7wDAXjpAs6iCT_s9PE1A8Sxp7IXJ-\
         JcYSkGqe8M_TVSStjxWTrRkJNNANATok7UvoJzFtS454qtbbKTOqDI",
    ],
];

/// A key of 1,024 bits and its valid RS256 signature.
const SHORT_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCoqq20sA6HPQP9El68sdCazsYm\n\
    IljrI9sdy4XECbBTPkpI7aCVCcH3/xRyh0HWI1ih8mWQhO7KRLX38TdAl2IyTAuh\n\
    4Mz4JAmBBWCqUR7/k3sW/vNmnlocTvh9T+XxoP5rWH5TWBqbXgy8BBgYQQGLaQPf\n\
    l+wZSrDyDFlcek6cVQIDAQAB\n\
    -----END PUBLIC KEY-----";
const SHORT_SIGNATURE: &str = "p0zOoSgyuMa5IyFg8KfpCDzgaOdqTJaVG4yRu6r42EC2X_i8Nm5LpQUQZu6zOhVtW_Ab89foGNAyPlMNzV7q\
    m5s8vFuaefLkpfyS6bx-\
    Z_Pve_bVUCh7pMfXxSmK7f-U5GirSvcH6WZxMV6HdT6-oGLENZ9i6hd__rdast4-lHA";

#[test]
fn signatures_of_other_programs_verify() {
    for [algorithm, public_key, value] in VECTORS {
        let claim = SignatureClaim { algorithm, public_key, value };
        assert_eq!(claim.verify(PAYLOAD), Ok(None), "{algorithm}");
        assert_eq!(claim.verify(b"another"), Err(SignatureError::Mismatch), "{algorithm}");
    }
}

#[test]
fn signature_under_another_algorithm_is_refused() {
    for [algorithm, public_key, value] in VECTORS {
        for other in ["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512", "none", "HS256"] {
            if other != algorithm {
                let claim = SignatureClaim { algorithm: other, public_key, value };
                assert!(claim.verify(PAYLOAD).is_err(), "{algorithm} as {other}");
            }
        }
    }
}

#[test]
fn short_rsa_key_is_refused() {
    let claim =
        SignatureClaim { algorithm: "RS256", public_key: SHORT_KEY, value: SHORT_SIGNATURE };
    assert_eq!(claim.verify(PAYLOAD), Err(SignatureError::ShortKey));
}

#[test]
fn key_of_no_known_form_is_refused() {
    for public_key in ["", "z", "did:key:zQ3sh", "{}", "-----BEGIN PUBLIC KEY-----", "0OIl"] {
        let value = "AAAA";
        for algorithm in ["Ed25519", "ES256", "ES384", "RS256"] {
            let claim = SignatureClaim { algorithm, public_key, value };
            assert!(claim.verify(PAYLOAD).is_err(), "{public_key}");
        }
    }
}
