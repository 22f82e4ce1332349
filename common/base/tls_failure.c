/* OpenSSL's reasons -> our error codes and what to do. Owns nothing. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "common/base/mem.h"
#include "common/base/tls.h"

struct failure {
	int reason;
	enum err_code code;
	const char *text;
};

static const struct failure failures[] = {
	{SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, ERR_DENIED,
		"the peer wants a certificate and got none: enrol first (join or login)"},
	{SSL_R_TLSV1_ALERT_UNKNOWN_CA, ERR_DENIED,
		"the peer does not know our certificate's CA: enrol again with a new token"},
	{SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, ERR_DENIED, "the peer refuses our certificate"},
	{SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, ERR_DENIED,
		"the peer refuses our certificate: it is of the wrong kind"},
	{SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, ERR_DENIED, "our certificate was revoked"},
	{SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, ERR_DENIED,
		"our certificate is expired: enrol again, and check both clocks"},
	{SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, ERR_DENIED, "the peer refuses our certificate"},
	{SSL_R_TLSV1_ALERT_ACCESS_DENIED, ERR_DENIED, "the peer denies access"},
	{SSL_R_TLSV1_ALERT_DECRYPT_ERROR, ERR_DENIED, "the peer could not verify our signature"},
	{SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, ERR_DENIED, "the peer has no certificate"},
	{SSL_R_NO_APPLICATION_PROTOCOL, ERR_PROTOCOL, "the peer asks for another protocol"},
	{SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, ERR_PROTOCOL,
		"the peer does not speak arraymark's protocol: is this the right port?"},
	{SSL_R_UNSUPPORTED_PROTOCOL, ERR_PROTOCOL, "the peer does not offer TLS 1.3"},
	{SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, ERR_PROTOCOL, "the peer does not speak TLS 1.3"},
	{SSL_R_HTTP_REQUEST, ERR_PROTOCOL, "the peer speaks HTTP, not TLS"},
	{SSL_R_HTTPS_PROXY_REQUEST, ERR_PROTOCOL, "the peer speaks HTTP, not TLS"},
	{SSL_R_WRONG_VERSION_NUMBER, ERR_PROTOCOL, "the peer does not speak TLS"},
	{SSL_R_BAD_RECORD_TYPE, ERR_PROTOCOL, "the peer does not speak TLS"},
	{SSL_R_RECORD_LENGTH_MISMATCH, ERR_PROTOCOL, "the peer does not speak TLS"},
};

static int describe_verify(SSL *ssl, struct err *e)
{
	long why = SSL_get_verify_result(ssl);

	if (why == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
		why == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
		why == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
		return err_set(e, ERR_DENIED,
			"the peer's certificate is not of our coordinator's CA: wrong address, or "
			"enrolled "
			"elsewhere?");
	if (why == X509_V_ERR_CERT_NOT_YET_VALID || why == X509_V_ERR_CERT_HAS_EXPIRED)
		return err_set(e, ERR_DENIED, "the peer's certificate: %s (check both clocks)",
			X509_verify_cert_error_string(why));
	return err_set(
		e, ERR_DENIED, "the peer's certificate: %s", X509_verify_cert_error_string(why));
}

int tls_describe_failure(SSL *ssl, unsigned long code, struct err *e)
{
	int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
	const char *text = ERR_reason_error_string(code);

	ERR_clear_error();
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		return describe_verify(ssl, e);
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		if (failures[i].reason == reason)
			return err_set(e, failures[i].code, "%s", failures[i].text);
	return err_set(e, ERR_CONN, "TLS failed: %s", text ? text : "no reason given");
}
