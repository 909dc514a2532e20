import { Effect, Redacted } from "effect";
import { Client, type ClientConfig } from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { DatabaseUnusable } from "../database_unusable.ts";

export interface ParsedPostgresUrl {
  /** The address of the database for messages, as `host:port/database`. */
  readonly path: string;
  /** The options of the driver, with the password and the certificates. */
  readonly config: Redacted.Redacted<ClientConfig>;
}

/**
 * Parses the URL and reads the files that it names. Treats every TLS `sslmode` except `no-verify` as `verify-full`,
 * which checks the certificate. Otherwise, the meaning of the mode would depend on the version of the driver.
 */
export const parsePostgresUrl = (
  text: Redacted.Redacted,
): Effect.Effect<ParsedPostgresUrl, DatabaseUnusable> => {
  const url = URL.parse(Redacted.value(text));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    const cause = 'its URL is malformed, expected "postgres://user:password@host:port/database"';
    return Effect.fail(new DatabaseUnusable({ path: "postgres", cause }));
  }
  if (["allow", "prefer", "require", "verify-ca"].includes(url.searchParams.get("sslmode") ?? "")) {
    url.searchParams.set("sslmode", "verify-full");
  }
  const path = `${url.host}${url.pathname}`;
  return Effect.try({
    try: () => {
      const config = parseIntoClientConfig(url.href);
      // Create a client to find invalid options here. The pool would create its clients later, where nothing handles
      // the error.
      void new Client(config);
      return { path, config: Redacted.make(config) };
    },
    catch: (cause) => new DatabaseUnusable({ path, cause }),
  });
};
