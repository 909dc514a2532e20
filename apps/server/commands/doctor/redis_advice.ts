type Variable = "ACCOUNTLINK_REDIS_URL" | "ACCOUNTLINK_DATABASE_URL";

/**
 * Returns what mends a Redis that cannot be used, or refuses writes.
 *
 * @param reason one word: of Redis, such as `OOM`, or of the connection, such as `ECONNREFUSED`
 */
export const redisAdvice = (reason: string, variable: Variable): string => {
  if (/^(?:WRONGPASS|NOAUTH)$/.test(reason)) {
    return `Correct user and password in ${variable}, percent-encoded; a user without a name is "default"`;
  }
  if (reason.startsWith("NOPERM")) {
    return `Let the user of ${variable} do what docs/operating.md lists, scripts too (+eval +evalsha)`;
  }
  if (reason === "OOM") return "Raise its maxmemory, or give this service a Redis of its own";
  if (reason === "MISCONF") {
    return "It cannot save to its disk: make room there, or let it write into its folder; its log says why";
  }
  if (reason === "READONLY") return `It is a replica: name the primary in ${variable}, or the sentinels`;
  if (reason === "MOVED") {
    return variable === "ACCOUNTLINK_REDIS_URL"
      ? "Begin its URL with redis+cluster: it is a node of a cluster"
      : "It is a node of a cluster: name a Redis of one primary";
  }
  if (/certificate|CERT|SIGNATURE|ISSUER|ALTNAME/.test(reason)) {
    return "Name the authority of its certificate in NODE_EXTRA_CA_CERTS, and its host as the certificate does";
  }
  if (/SSL|TLS|EPROTO|ECONNRESET|not connected/.test(reason)) {
    return `Begin ${variable} with rediss: if Redis expects TLS, else with redis:`;
  }
  return `Start Redis, or correct host and port in ${variable}`;
};
