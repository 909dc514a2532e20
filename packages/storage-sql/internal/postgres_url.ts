/** Where a URL says that a database is. */
import { Effect, Redacted } from "effect";
import { Client, type ClientConfig } from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { DatabaseUnusable } from "../database_unusable.ts";

/** A database on a server. */
export interface PostgresPlace {
  /** `host:port/database`, for those who are told of it. */
  readonly path: string;
  /** What the driver has to know, the password and the content of certificates included. */
  readonly config: Redacted.Redacted<ClientConfig>;
}

/**
 * Reads the URL, and the files that it names. Whoever asks for TLS gets it with a certificate that is checked, unless
 * by `sslmode=no-verify`: the driver changes from version to version what it makes of the modes in between.
 */
export const parsePostgresUrl = (text: Redacted.Redacted): Effect.Effect<PostgresPlace, DatabaseUnusable> => {
  const url = URL.parse(Redacted.value(text));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    const cause = 'its URL is of another form, expected "postgres://user:password@host:port/database"';
    return Effect.fail(new DatabaseUnusable({ path: "postgres", cause }));
  }
  if (["allow", "prefer", "require", "verify-ca"].includes(url.searchParams.get("sslmode") ?? "")) {
    url.searchParams.set("sslmode", "verify-full");
  }
  const path = `${url.host}${url.pathname}`;
  return Effect.try({
    try: () => {
      const config = parseIntoClientConfig(url.href);
      // Made for what it refuses: later on, nobody would be there to hear of it.
      void new Client(config);
      return { path, config: Redacted.make(config) };
    },
    catch: (cause) => new DatabaseUnusable({ path, cause }),
  });
};
