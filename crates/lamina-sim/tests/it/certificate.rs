//! Self-signed certificates for the tests that speak TLS, made on the spot: a key in the repository
//! would be one that somebody uses.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTF8: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// A certificate for `localhost` that signs itself, and its key.
#[derive(Debug)]
pub(crate) struct Certificate {
    pub(crate) der: Vec<u8>,
    pub(crate) pem: String,
    pub(crate) key: String,
}

impl Certificate {
    pub(crate) fn new() -> Certificate {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap();
        let body = body(pair.public_key().as_ref());
        let signature = pair.sign(&random, &body).unwrap();
        let der = tlv(SEQUENCE, &[&body, &signed_with(), &bits(signature.as_ref())]);
        Certificate { pem: pem("CERTIFICATE", &der), key: pem("PRIVATE KEY", key.as_ref()), der }
    }

    /// The settings of a server that has this certificate.
    pub(crate) fn server_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(self.der.clone())], key)
            .unwrap();
        Arc::new(config)
    }

    /// Answers every request over TLS with this JSON.
    pub(crate) fn serve(
        &self,
        listener: TcpListener,
        body: String,
    ) -> impl Future<Output = ()> + Send + 'static {
        let acceptor = TlsAcceptor::from(self.server_config());
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let answer = [head, body].concat();
        async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not believe us leaves during the greeting.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut head = [0; 4_096];
                let _ = stream.read(&mut head).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        }
    }
}

/// What is signed (RFC 5280, `TBSCertificate`).
fn body(public_key: &[u8]) -> Vec<u8> {
    let version_3 = tlv(0xa0, &[&tlv(INTEGER, &[&[2]])]);
    let serial = tlv(INTEGER, &[&[1]]);
    let common_name = tlv(SEQUENCE, &[&tlv(OBJECT, &[COMMON_NAME]), &tlv(UTF8, &[b"localhost"])]);
    let name = tlv(SEQUENCE, &[&tlv(SET, &[&common_name])]);

    let validity = tlv(
        SEQUENCE,
        &[&tlv(UTC_TIME, &[b"200101000000Z"]), &tlv(GENERALIZED_TIME, &[b"21500101000000Z"])],
    );
    let kind = tlv(SEQUENCE, &[&tlv(OBJECT, &[EC_PUBLIC_KEY]), &tlv(OBJECT, &[PRIME256V1])]);
    let key = tlv(SEQUENCE, &[&kind, &bits(public_key)]);
    let dns_name = tlv(0x82, &[b"localhost"]);
    let names = tlv(OCTET_STRING, &[&tlv(SEQUENCE, &[&dns_name])]);
    let extension = tlv(SEQUENCE, &[&tlv(OBJECT, &[SUBJECT_ALT_NAME]), &names]);
    let extensions = tlv(0xa3, &[&tlv(SEQUENCE, &[&extension])]);
    let parts = [&version_3, &serial, &signed_with(), &name, &validity, &name, &key, &extensions];
    tlv(SEQUENCE, &parts.map(Vec::as_slice))
}

fn signed_with() -> Vec<u8> {
    tlv(SEQUENCE, &[&tlv(OBJECT, &[ECDSA_WITH_SHA256])])
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    tlv(BIT_STRING, &[&[0], bytes])
}

/// Tag, length, value (DER).
fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let mut bytes = vec![tag];
    match u8::try_from(value.len()) {
        Ok(length @ 0..=127) => bytes.push(length),
        Ok(length) => bytes.extend([0x81, length]),
        Err(_) => {
            bytes.push(0x82);
            bytes.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        }
    }
    bytes.extend(value);
    bytes
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
