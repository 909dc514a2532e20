/**
 * Checks a request that needs a key. `docs/architecture.md` lists these steps with the same numbers. Two steps come
 * before: `request_context.ts` gives the request its ID (step 1), and `app.ts` finds the route (step 2).
 */
import {
  type ApiKey,
  Forbidden,
  KeyAuthenticator,
  PremiumRequired,
  type PublicError,
  RequestLimits,
} from "@accountlink/core";
import { isAddressAllowed } from "@accountlink/core/addresses";
import { GameId } from "@accountlink/core/ids";
import { keyFreshness } from "@accountlink/core/keys";
import { PlatformRefusals } from "@accountlink/core/platforms";
import { RequestPlaces, WorkingTimes } from "@accountlink/core/turns";
import {
  accessesOf,
  type Credential,
  type Parameters,
  type ParameterValues,
  type Route,
} from "@accountlink/http-api";
import { Effect, Exit, Fiber } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import { type HttpRequest, type HttpResponse, queryTextOf } from "../http_app.ts";
import type { RequestContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { type FindProblems, premiumTest, valuesReader } from "./parameters.ts";
import { redirectIntoFlow } from "./redirect_into_flow.ts";
import { answering, type Outcome, Refused, within } from "./respond.ts";

export interface Input<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly context: RequestContext;
}

export interface KeyedInput<P extends Parameters> extends Input<P> {
  readonly key: ApiKey;
}

export type Answered = Success | HttpResponse;

/** The places of requests with a key. */
type Place = "bulk" | "reverse" | "list" | "platform" | "write" | "form";

/** What a route has besides the schemas of its parameters. */
export interface ValueChecks<P extends Parameters> {
  /** These problems are reported together with the malformed values, in one error. */
  readonly findProblems?: FindProblems<P>;
  /** Checks the values after `findProblems` and before the check of the key's tier. */
  readonly validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>;
  /** The place that a request takes for steps 11 and 12; by default the one that `placesOf` names; null for none. */
  readonly place?: Place | null;
}

export const makeChecks = Effect.gen(function* () {
  const { publicUrl } = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const { chargeTo } = yield* PlatformRefusals;
  const places = yield* RequestPlaces;
  const { accounts } = yield* WorkingTimes;

  const admit = (context: RequestContext, account: string, counting: ReturnType<typeof limits.admit>) =>
    Effect.flatMap(counting, ({ report, refusal }) => {
      const counted = { ...context, limits: report };
      if (refusal !== null) return Effect.fail(new Refused<PublicError>(counted, refusal));
      accounts.note(account, context.clock.currentTimeMillisUnsafe());
      return Effect.succeed(counted);
    });

  const redirectKeyless = Effect.fnUntraced(function* ({ requestId, address, request }: RequestContext) {
    yield* authenticator.checkThrottle(address);
    yield* limits.admitAddress(address, "second");
    return redirectIntoFlow(publicUrl, requestId, queryTextOf(request));
  });

  /** Runs the checks of a route in order, then calls its handler. */
  const checked = <P extends Parameters, R>(
    route: Route<P>,
    handler: (input: KeyedInput<P>) => Effect.Effect<Outcome<Answered>, Refused<PublicError>, R>,
    { findProblems, validate, place }: ValueChecks<P> = {},
  ) => {
    const keyOf = keyReader(route.service?.credentials);
    const { traffic = "mapping" } = route;
    const isAllowed = accessTest(route);
    const isServed = tierTest(route);
    const readValues = valuesReader(route, findProblems);
    const asksForPremium = premiumTest(route);
    const isCharged = chargeTest(route);
    const placeOf = place === undefined ? placesOf(route) : () => place;

    const authenticate = Effect.fnUntraced(function* (arrived: RequestContext) {
      const { address, request } = arrived;
      // Steps 3 and 4: refuse an address that sends many wrong keys, then check the key. `KeyAuthenticator` does both.
      const authenticated = yield* authenticator.authenticate(keyOf(request), address);
      const context = { ...arrived, key: authenticated };
      // Step 5: check the client address against the allow list and the deny list of the key.
      if (!isAddressAllowed(authenticated.key, address)) {
        return yield* Effect.fail(
          new Refused<PublicError>(context, new Forbidden({ reason: "ip_not_allowed" })),
        );
      }
      if (authenticated.key.kind !== "normal") request.noteUncounted?.();
      return { presented: authenticated.key, quota: authenticated.quota, context };
    });

    /** A response without a valid key says nothing of the key that the request had. */
    const authenticateAgain = (context: RequestContext) =>
      authenticate(context).pipe(
        Effect.map(({ presented }) => presented),
        Effect.mapError((error) =>
          error instanceof Refused ? error : new Refused({ ...context, key: null, limits: null }, error),
        ),
      );

    const readAllowed = Effect.fnUntraced(function* (context: RequestContext, presented: ApiKey) {
      // Step 8: check that the access and the tier of the key allow the route.
      if (!isAllowed(presented)) return yield* new Forbidden({ reason: "key_access" });
      if (!isServed(presented)) return yield* new PremiumRequired();
      // Step 9: read and check the parameters from the query or the body.
      const began = context.clock.currentTimeMillisUnsafe();
      const { values, contract } = yield* readValues(context, presented);
      // While a slow body arrived, the key may have been revoked.
      const isSlow = context.clock.currentTimeMillisUnsafe() - began >= keyFreshness;
      const key = isSlow ? yield* authenticateAgain(context) : presented;
      if (isSlow && !isAllowed(key)) return yield* new Forbidden({ reason: "key_access" });
      if (validate !== undefined) yield* validate(values);
      // Step 10: check whether the values need a Premium key. On a write route, `handler` then holds the idempotency
      // key, see `answerOnce`.
      if (key.tier !== "premium" && asksForPremium(values)) return yield* new PremiumRequired();
      return { values, key, context: { ...context, contract } };
    });

    const isLookup =
      (route.group === "lookup" || route.group === "bulk") &&
      !("wait" in route.parameters) &&
      route.isStream !== true;
    const admitBeside = isLookup ? limits.admitBeside : null;

    /**
     * Runs steps 11 and 12 of a lookup while the shared counters count it, so that it takes one round trip. The count
     * decides first, and the answer says its limits. What costs more than a lookup waits for the count.
     */
    const answerWhileCounted = Effect.fnUntraced(function* <A>(
      context: RequestContext,
      presented: ApiKey,
      counting: Effect.Effect<RequestContext, Refused<PublicError>>,
      answer: (input: KeyedInput<P>) => Effect.Effect<Outcome<A>, Refused<PublicError>, R>,
    ) {
      const read = yield* Effect.exit(within(context, readAllowed(context, presented)));
      const isBeside = Exit.isSuccess(read) && mayRunUncounted(placeOf(read.value));
      const counter = isBeside ? yield* Effect.forkChild(counting, { startImmediately: true }) : null;
      const begun = isBeside ? yield* Effect.exit(answer(read.value)) : null;
      const { limits: report } = yield* counter === null ? counting : Fiber.join(counter);
      const counted = <C extends { readonly context: RequestContext }>(of: C): C => ({
        ...of,
        context: { ...of.context, limits: report },
      });
      const refused = ({ context: of, error }: Refused<PublicError>) =>
        new Refused(of.key === null ? of : { ...of, limits: report }, error);
      return begun === null
        ? yield* answer(counted(yield* Effect.mapError(read, refused)))
        : counted(yield* Effect.mapError(begun, refused));
    });

    return Effect.fnUntraced(function* (arrived: RequestContext) {
      if (isKeyless(route, arrived.request)) {
        return yield* answering(arrived, redirectKeyless(arrived));
      }
      const { presented, quota, context } = yield* within(arrived, authenticate(arrived));
      // Steps 6 and 7: count the request against the limits of the client address and of the key, together.
      const requester = { key: presented, quota, address: context.address, traffic };
      const { account } = presented.scope;
      // Steps 11 and 12: check the guild, and do the work. The handler calls one service of core, such as
      // `LinkLookup.byChat` or `LinkWriter.setGame`. This service asks `GuildGuard` before it does its work.
      const answer = (input: KeyedInput<P>) => {
        const handled = isCharged(input) ? chargeTo(account)(handler(input)) : handler(input);
        const taken = placeOf(input);
        return taken === null ? handled : places[taken]({ account, person: input.key.id }, handled);
      };
      if (admitBeside !== null && presented.scope.kind !== "guild") {
        const counting = yield* within(context, admitBeside(requester));
        if (counting !== null) {
          const admitted = within(context, admit(context, account, counting));
          return yield* answerWhileCounted(context, presented, admitted, answer);
        }
      }
      const counted = yield* within(context, admit(context, account, limits.admit(requester)));
      return yield* answer(yield* within(counted, readAllowed(counted, presented)));
    });
  };

  return checked;
});

/** Whether a request may run while it is counted: a lookup, or many, that asks no platform. */
const mayRunUncounted = (place: Place | null): boolean =>
  place === null || place === "bulk" || place === "reverse";

type Asking = Pick<KeyedInput<{}>, "values"> & { readonly key: Pick<ApiKey, "tier"> };

/** Returns a predicate that tells whether a request asks a platform about a guild or for profiles. */
const platformTest =
  ({ addsProfiles }: Route) =>
  ({ values, key }: Asking): boolean => {
    const { guildId = null, resolved = false } = values as ParameterValues<Parameters>;
    return guildId !== null || resolved === true || (addsProfiles === true && key.tier === "premium");
  };

/**
 * Returns a predicate that tells whether a request may ask a platform. Charging an account takes a tenth of the time of a
 * lookup that asks none.
 */
const chargeTest = (route: Route) => {
  const asksPlatform = platformTest(route);
  const isRead = route.method === "GET";
  return (input: KeyedInput<{}>): boolean =>
    !isRead || asksPlatform(input) || input.key.scope.kind === "guild";
};

/**
 * Returns a function that tells which place a request takes that costs more than a lookup; null for the others. A long
 * poll must not take a place for as long as it waits.
 */
export const placesOf = (route: Route) => {
  const isList = "limit" in route.parameters;
  const isBulk = route.group === "bulk";
  const asksPlatform = platformTest(route);
  const isReverse = isBulk
    ? "gameIds" in route.parameters
    : route.group === "lookup" && Object.values(route.parameters).some(({ schema }) => schema === GameId);
  return (input: Asking): Place | null => {
    const { wait = 0 } = input.values as ParameterValues<Parameters>;
    if (route.isStream === true || wait !== 0) return null;
    const isAsking = asksPlatform(input);
    if (isList || isBulk) return isBulk && !isAsking && !isReverse ? "bulk" : "list";
    if (route.group === "alts" || isAsking) return "platform";
    if (isReverse) return "reverse";
    return route.method === "GET" ? null : "write";
  };
};

const isKeyless = ({ access }: Route, request: HttpRequest): boolean =>
  access === "key_or_redirect" && request.header("authorization") === undefined;

const bearer: ReadonlyArray<Credential> = [{ header: "authorization", scheme: "Bearer" }];

/** Returns a function that reads the key from the first header that contains a key; null if no header does. */
export const keyReader =
  (credentials = bearer) =>
  (request: Pick<HttpRequest, "header">): string | null => {
    for (const { header, scheme } of credentials) {
      const key = keyIn(request.header(header), scheme);
      if (key !== null) return key;
    }
    return null;
  };

/**
 * Takes the place of the key if a header contains credentials with another scheme. No key equals this text, so the
 * request counts as one with a wrong key.
 */
const otherScheme = "other";

const schemes = { Bearer: /^bearer(?: |$)/i, Bot: /^bot(?: |$)/i };

const keyIn = (value: string | undefined, scheme: Credential["scheme"]): string | null => {
  if (value === undefined) return null;
  if (scheme === null) return value.trim() || null;
  const key = schemes[scheme].test(value) ? value.slice(scheme.length).trim() : value.trim() && otherScheme;
  return key === "" ? null : key;
};

const accessTest = (route: Pick<Route, "access" | "keyAccess">) => {
  const allowed = new Set<ApiKey["access"]>(accessesOf(route));
  return ({ access }: ApiKey): boolean => allowed.has(access);
};

/** Returns a predicate that tells whether the route accepts the tier, the scope and the kind of a key. */
const tierTest = ({ tier }: Pick<Route, "tier">) => {
  if (tier === undefined) return () => true;
  return ({ tier: own, scope, kind }: ApiKey): boolean =>
    own === "premium" ||
    (tier === "premium_or_global" && scope.kind === "global") ||
    (tier === "premium_or_custom" && kind !== "normal");
};
