/** URLs of Postgres, read as its own tools do. @internal */
import { readFileSync } from "node:fs";
import type { TcpNetConnectOpts } from "node:net";
import { userInfo } from "node:os";
import * as tls from "node:tls";
import { Effect, Redacted } from "effect";
import { DatabaseUnusable } from "../database_unusable.ts";

export interface ParsedPostgresUrl {
  /** The address of the database for messages, as `host:port/database`. */
  readonly path: string;
  /** The URL with user, password and database. */
  readonly url: Redacted.Redacted;
  /** The address of the server: a TCP port or a Unix socket. */
  readonly address: TcpNetConnectOpts | { readonly path: string };
  readonly ssl: tls.ConnectionOptions | false;
  /** The name by which the server lists the connections. */
  readonly applicationName: string;
}

export const form = "postgres://user:password@host:port/database";

export interface PostgresParts {
  /** A host name, an address without brackets, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly parameters: URLSearchParams;
  /** The address for messages, as `host:port/database`. */
  readonly path: string;
}

/** The parts of a URL, of which parameters such as `host` go first; null if it is malformed. */
export const partsOf = (text: string): PostgresParts | null => {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:\/\/$/.test(text.slice(0, url.protocol.length + 2))) return null;
  const parameters = url.searchParams;
  try {
    const host = parameters.get("host") ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, "$1"));
    const named = {
      host: host === "" ? "localhost" : host,
      port: Number(parameters.get("port") ?? (url.port === "" ? 5432 : url.port)),
      user: parameters.get("user") ?? decodeURIComponent(url.username),
      password: parameters.get("password") ?? decodeURIComponent(url.password),
      database: parameters.get("dbname") ?? decodeURIComponent(url.pathname.slice(1)),
    };
    const shown = named.host.includes(":") ? `[${named.host}]` : named.host;
    return { ...named, parameters, path: `${shown}:${named.port}/${named.database}` };
  } catch {
    // The percent-encoding is malformed.
    return null;
  }
};

/**
 * Parses the URL and reads the files that it names. Treats every TLS `sslmode` except `no-verify` as `verify-full`,
 * which checks the certificate. Otherwise, the meaning of the mode would depend on the version of the driver.
 */
export const parsePostgresUrl = (
  text: Redacted.Redacted,
): Effect.Effect<ParsedPostgresUrl, DatabaseUnusable> => {
  const parts = partsOf(Redacted.value(text));
  if (parts === null) {
    const cause = `its URL is malformed, expected "${form}"`;
    return Effect.fail(new DatabaseUnusable({ path: "postgres", cause }));
  }
  const { path } = parts;
  const url = new URL(Redacted.value(text));
  const unknown = unknownTlsParameter(url.searchParams);
  if (unknown !== undefined) {
    const cause = `its URL has ${unknown}, expected sslmode (${tlsModes.join(", ")}), sslrootcert, sslcert or sslkey`;
    return Effect.fail(new DatabaseUnusable({ path, cause }));
  }
  const refused = refusedParameter(url.searchParams);
  if (refused !== undefined) {
    const cause = `its URL has "${refused}", expected no parameters but ${expectedParameters}`;
    return Effect.fail(new DatabaseUnusable({ path, cause }));
  }
  return Effect.try({
    try: () => {
      if (url.username === "") url.username = userInfo().username;
      const ssl = tlsOf(url.searchParams);
      const applicationName = url.searchParams.get("application_name") ?? "accountlink";
      for (const name of tlsParameters) url.searchParams.delete(name);
      return { path, url: Redacted.make(url.href), address: addressOf(parts), ssl, applicationName };
    },
    catch: (cause) => new DatabaseUnusable({ path, cause }),
  });
};

/**
 * The parameters besides TLS parameters, each with its allowed values; null for any. The driver would pass over
 * others in silence, such as `schema`, `search_path` and `statement_timeout`, which say where the data is and how long
 * statements take. The service has only the encoding UTF-8, and uses only a server that takes writes.
 */
const parameterValues = new Map<string, RegExp | null>([
  ["host", /^[^,]*$/],
  ["port", /^\d+$/],
  ["user", null],
  ["password", null],
  ["dbname", null],
  ["application_name", null],
  ["options", null],
  ["client_encoding", /^(?:utf-?8|unicode|auto)$/i],
  ["target_session_attrs", /^(?:any|read-write|primary)$/],
]);

const expectedParameters = `${[...parameterValues.keys()].join(", ")}, each once, and those of TLS`;

/** Returns the first parameter that has no meaning here, or stands twice. */
const refusedParameter = (parameters: URLSearchParams): string | undefined =>
  [...parameters].find(([name, value]) => {
    if ((tlsParameters as ReadonlyArray<string>).includes(name)) return false;
    const values = parameterValues.get(name);
    if (values === undefined || parameters.getAll(name).length > 1) return true;
    return values?.test(value) === false;
  })?.[0];

const tlsParameters = ["sslmode", "sslrootcert", "sslcert", "sslkey"] as const;

const tlsModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/**
 * Returns a parameter about encryption that this module does not read. The connection would otherwise be in plain text,
 * although the URL asks for TLS.
 */
const unknownTlsParameter = (parameters: URLSearchParams): string | undefined => {
  const names = [...parameters.keys()];
  const mode = parameters.get("sslmode");
  const unknown = names.find(
    (name) =>
      /^(?:require_?)?(?:ssl|tls)|^gssenc|^channel_?binding$/i.test(name) &&
      !(tlsParameters as ReadonlyArray<string>).includes(name),
  );
  if (unknown !== undefined) return JSON.stringify(unknown);
  const isUnknownMode = mode !== null && !tlsModes.includes(mode);
  return isUnknownMode || parameters.getAll("sslmode").length > 1 ? "another sslmode" : undefined;
};

const read = (file: string | null | undefined) => (file ? readFileSync(file, "utf8") : undefined);

/** Node 20 has no `getCACertificates`: imported by name, it would keep this module from loading there. */
const systemAuthorities = (): Array<string> => {
  if ("getCACertificates" in tls) return tls.getCACertificates("system");
  throw new Error('sslrootcert is "system", expected a file of authorities on Node before 22.15');
};

const tlsOf = (parameters: URLSearchParams): tls.ConnectionOptions | false => {
  const [mode, ca, cert, key] = tlsParameters.map((name) => parameters.get(name));
  if (mode === "disable" || (mode === null && ca === null && cert === null && key === null)) return false;
  const authorities = ca === "system" ? systemAuthorities() : read(ca);
  if (
    typeof authorities === "string" &&
    !/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(authorities)
  ) {
    throw new Error(`sslrootcert "${ca}" holds no certificate, expected one of an authority`);
  }
  const options = {
    ...(authorities !== undefined && { ca: authorities }),
    ...(cert && { cert: read(cert) }),
    ...(key && { key: read(key) }),
  };
  checkPair(options, cert, key);
  return { ...options, rejectUnauthorized: mode !== "no-verify" };
};

/** Fails for files that TLS cannot use, before a connection would. */
const checkPair = (
  options: tls.ConnectionOptions,
  cert: string | null | undefined,
  key: string | null | undefined,
): void => {
  const problem = contextProblem(options);
  if (problem === null) return;
  if (/mismatch/.test(problem)) {
    throw new Error(
      `sslkey "${key}" does not belong to sslcert "${cert}", expected the key of that certificate`,
    );
  }
  throw new Error(`sslrootcert, sslcert or sslkey cannot be used: ${problem}`);
};

const contextProblem = (options: tls.ConnectionOptions): string | null => {
  try {
    tls.createSecureContext(options);
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
};

const addressOf = ({ host, port }: PostgresParts): ParsedPostgresUrl["address"] =>
  host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
