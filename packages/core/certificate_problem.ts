type Name = string | ReadonlyArray<string> | undefined;

/** What a refused certificate of a server says of itself, as `getPeerCertificate` of Node gives it. @internal */
export interface RefusedCertificate {
  readonly subjectaltname?: string | undefined;
  readonly subject?: { readonly CN?: Name } | undefined;
  readonly issuer?: { readonly CN?: Name; readonly O?: Name } | undefined;
  readonly valid_from?: string | undefined;
  readonly valid_to?: string | undefined;
}

/** The codes of Node and OpenSSL for certificates that do not hold. @internal */
export const certificateCode =
  /\b(?:CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT\w*|VERIFY_LEAF_SIGNATURE)|ERR_TLS_CERT_ALTNAME\w*)\b/;

/**
 * Returns a message: the server, the fault of its certificate, and the remedy.
 *
 * @param server `host:port`
 * @param setting where an authority is named, such as `sslrootcert`
 * @internal
 */
export const certificateProblem = (
  { code, host, server, setting }: Readonly<Record<"code" | "host" | "server" | "setting", string>>,
  { subjectaltname, subject, issuer, valid_from: from = "", valid_to: to = "" }: RefusedCertificate,
): string => {
  const its = `the certificate of ${server}`;
  if (code === "CERT_HAS_EXPIRED") return `${its} is over since ${to}, expected a renewed one`;
  if (code === "CERT_NOT_YET_VALID") {
    return `${its} holds from ${from} on, expected one that holds now, and clocks that are right`;
  }
  if (code.startsWith("ERR_TLS_CERT_ALTNAME")) {
    const names = subjectaltname ?? `CN=${[subject?.CN ?? ""].flat().join(", ")}`;
    return `${its} is for ${names}, expected one for "${host}", or a URL with a name that it has`;
  }
  const authority = [issuer?.CN ?? [], issuer?.O ?? []].flat(2).join(", ");
  const by = code === "DEPTH_ZERO_SELF_SIGNED_CERT" ? "itself" : `"${authority}", which is unknown here`;
  return `${its} is signed by ${by}, expected an authority that ${setting} names (${code})`;
};
