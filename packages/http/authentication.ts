/**
 * The checks before a route's own: key, address lists, limits. Steps 3 to 7 of the order of checks.
 */
import { Forbidden, isAddressAllowed, KeyAuthenticator, RequestLimits } from "@accountlink/core";
import { Effect } from "effect";
import type { Exchange } from "./exchange.ts";

const scheme = /^bearer(?: +|$)/i;

/** The token of an `Authorization` header: null when there is none, the whole value when it is no bearer token. */
export const bearerToken = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  if (header.startsWith("Bearer alk_")) return header.slice(7).trimEnd();
  const token = header.replace(scheme, "").trim();
  return token === "" ? null : token;
};

/** Makes the check that every request with a key goes through; it notes in the exchange how far it came. */
export const makeAdmission = Effect.gen(function* () {
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;

  return Effect.fnUntraced(function* (exchange: Exchange) {
    const token = bearerToken(exchange.request.headers["authorization"]);
    const authenticated = yield* authenticator.authenticate(token, exchange.address);
    exchange.key = authenticated;
    const { key, quota } = authenticated;
    if (!isAddressAllowed(key, exchange.address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
    const { report, refusal } = yield* limits.admit({
      keyId: key.id,
      quota,
      address: exchange.address,
      traffic: "mapping",
    });
    exchange.limits = report;
    if (refusal !== null) return yield* refusal;
    return authenticated;
  });
});
