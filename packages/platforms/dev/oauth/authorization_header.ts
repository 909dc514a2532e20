import { Option, Result } from "effect";
import { Base64 } from "effect/encoding";
import type { Headers } from "effect/http";

/** The bearer token, or an empty string. */
export const bearerToken = (headers: Headers.Headers): string => afterScheme("Bearer ", headers);

/** The client's credentials in HTTP Basic, each form-encoded (RFC 6749, section 2.3.1). */
export const basicCredentials = (
  headers: Headers.Headers,
): Option.Option<{ readonly clientId: string; readonly clientSecret: string }> =>
  Base64.decodeString(afterScheme("Basic ", headers)).pipe(
    Result.getSuccess,
    Option.map((pair) => /^([^:]*):(.*)$/.exec(pair)),
    Option.filter((match) => match !== null),
    Option.map(([, id = "", secret = ""]) => ({
      clientId: formDecoded(id),
      clientSecret: formDecoded(secret),
    })),
  );

const afterScheme = (scheme: string, { authorization = "" }: Headers.Headers): string =>
  authorization.startsWith(scheme) ? authorization.slice(scheme.length) : "";

const formDecoded = (text: string): string => new URLSearchParams(`text=${text}`).get("text") ?? "";
