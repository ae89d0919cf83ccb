/* SPDX-License-Identifier: Apache-2.0 */
/* Converts results of curl to failures; the only place that does. */
#include "agents/model/client-impl.h"

static const struct transport {
	CURLcode result;
	enum wfs_model_failure_kind kind;
	const char *code;
	bool lost; /* another attempt may succeed */
} transports[] = {
	{CURLE_COULDNT_RESOLVE_PROXY, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_UNREACHABLE,
		true},
	{CURLE_COULDNT_RESOLVE_HOST, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_UNREACHABLE, true},
	{CURLE_COULDNT_CONNECT, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_UNREACHABLE, true},
	/* The only time limit that curl itself watches. */
	{CURLE_OPERATION_TIMEDOUT, WFS_MODEL_FAILURE_TIMEOUT, WFS_MODEL_CODE_CONNECT_TIMEOUT, true},
	{CURLE_PARTIAL_FILE, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_LOST, true},
	{CURLE_GOT_NOTHING, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_LOST, true},
	{CURLE_SEND_ERROR, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_LOST, true},
	{CURLE_RECV_ERROR, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_LOST, true},
	/* The handshake broke off; certificates have codes of their own. */
	{CURLE_SSL_CONNECT_ERROR, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_TLS, true},
	{CURLE_PEER_FAILED_VERIFICATION, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_TLS, false},
	{CURLE_SSL_CACERT_BADFILE, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_TLS, false},
	{CURLE_OUT_OF_MEMORY, WFS_MODEL_FAILURE_TRANSPORT, WFS_MODEL_CODE_NO_MEMORY, true},
};

static const struct transport *transport_of(CURLcode result)
{
	static const struct transport other = {
		.kind = WFS_MODEL_FAILURE_TRANSPORT, .code = WFS_MODEL_CODE_TRANSPORT};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(transports); i++)
		if (transports[i].result == result)
			return &transports[i];
	return &other;
}

bool wfs_model_transport_failed(
	struct wfs_model_failure *failure, CURLcode result, const char *reason)
{
	const struct transport *const transport = transport_of(result);

	wfs_model_failure_set(failure, transport->kind, transport->code, "%s",
		reason[0] != '\0' ? reason : curl_easy_strerror(result));
	return transport->lost;
}
