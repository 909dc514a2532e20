/**
 * The checks before a route's own: key, address lists, limits. Steps 3 to 7 of the order of checks.
 */
import { Forbidden, isAddressAllowed, KeyAuthenticator, RequestLimits } from "@accountlink/core";
import { Effect } from "effect";
import type { Exchange } from "./exchange.ts";

const scheme = /^bearer(?: |$)/i;

/** The token of an `Authorization` header: null when there is none, the whole value when it is no bearer token. */
export const bearerToken = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  const token = (scheme.test(header) ? header.slice(6) : header).trim();
  return token === "" ? null : token;
};

/** Makes the check that every request with a key goes through; it notes in the exchange how far it came. */
export const makeAdmission = Effect.gen(function* () {
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;

  return Effect.fnUntraced(function* (exchange: Exchange) {
    const { address, request } = exchange;
    const authenticated = yield* authenticator.authenticate(
      bearerToken(request.headers["authorization"]),
      address,
    );
    exchange.key = authenticated;
    const { key, quota } = authenticated;
    if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
    const { report, refusal } = yield* limits.admit({ key, quota, address, traffic: "mapping" });
    exchange.limits = report;
    if (refusal !== null) return yield* refusal;
    return authenticated;
  });
});
