/**
 * Runs requests to the JSON routes of the dashboard through the checks: the sign-in, the account and role, the origin
 * and CSRF token of a write, and the parameters. Requests with a key run through the checks of keys instead.
 */
import { type PublicError, RequestLimits, SignIns } from "@accountlink/core";
import { type MemberRole, Members } from "@accountlink/core/accounts";
import { Forbidden, type InvalidBody, PremiumRequired } from "@accountlink/core/errors";
import type { Manager } from "@accountlink/core/keys";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { PlatformRefusals } from "@accountlink/core/platforms";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { RequestPlaces } from "@accountlink/core/turns";
import {
  answering,
  type BoundRoute,
  contextMaker,
  envelopeV2,
  HttpResponse,
  HttpSettings,
  makeChecks,
  makeObservers,
  parameterReader,
  type RequestContext,
  rawReader,
  render,
  type SuccessOf,
} from "@accountlink/http/for_pages";
import {
  optional,
  type Parameters,
  type ParameterValues,
  type RawValues,
  type Route,
} from "@accountlink/http-api";
import { Effect, Record, type Result, type Schema } from "effect";
import { type Answering, asEffect } from "../page_requests.ts";
import { asVisitor, readInPlace } from "../page_turns.ts";
import { siteOf } from "../sign_ins/site.ts";
import type { Fields } from "./form_fields.ts";
import { explained, formValues } from "./form_values.ts";
import { askerOf, makeMemberOf, mayUse, type OwnerVisitor, type SignedInMember } from "./owner_pages.ts";

export interface ManagerInput<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly context: RequestContext;
  readonly owner: Manager;
  /** Null for a key. */
  readonly role: MemberRole | null;
}

export interface OwnerInput<P extends Parameters>
  extends Pick<ManagerInput<P>, "values" | "context">,
    SignedInMember {}

/** Which keys a route takes. Without any, its handler gets the signed-in member. */
type KeyAccess = ReadonlyArray<"manage">;
type DashboardRoute<P extends Parameters, S extends Schema.Top, K extends KeyAccess> = Route<P, S> & {
  readonly keyAccess: K;
};
type InputOf<P extends Parameters, K extends KeyAccess> = K extends readonly []
  ? OwnerInput<P>
  : ManagerInput<P>;

type JsonOf<S extends Schema.Top> = SuccessOf<S["Encoded"]> | HttpResponse;

/** The `data` of a JSON answer, or the answer itself. */
type DataOf<S extends Schema.Top> =
  | (SuccessOf<S["Encoded"]> extends { readonly data: infer Data } ? Data : never)
  | HttpResponse;

export interface Operation<P extends Parameters, A> extends ReturnType<typeof formOperation<P, A>> {
  readonly json: BoundRoute;
}

/**
 * Makes an operation, which its JSON route and the forms of pages share. The route says who may do it, whether a key may,
 * and which fields it has.
 *
 * @param toData makes the `data` of the JSON answer from what `run` returns for forms; if left out, `run` returns it
 */
interface MakeOperation {
  <P extends Parameters, S extends Schema.Top, K extends KeyAccess, A>(
    route: DashboardRoute<P, S, K>,
    run: (input: InputOf<P, K>) => Answering<A, PublicError>,
    toData: (result: A, input: InputOf<P, K>) => DataOf<S>,
  ): Operation<P, A>;
  <P extends Parameters, S extends Schema.Top, K extends KeyAccess, A extends DataOf<S>>(
    route: DashboardRoute<P, S, K>,
    run: (input: InputOf<P, K>) => Answering<A, PublicError>,
  ): Operation<P, A>;
}

/** How long a sign-in and a role that were found hold for a request that had arrived, in milliseconds. */
const foundFor = 100;

export const makeOperation = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const signIns = yield* SignIns;
  const memberOf = yield* makeMemberOf;
  const { chargeTo } = yield* PlatformRefusals;
  const { managing } = yield* Members;
  const checked = yield* makeChecks;
  const places = yield* RequestPlaces;
  const withContext = contextMaker(settings);
  const site = siteOf("dashboard", settings.publicUrl);
  const { origin } = new URL(settings.publicUrl);

  /** Protects against forged requests: a form of another site has neither our origin nor the token. */
  const checkWrite = Effect.fnUntraced(function* ({ request }: RequestContext, signIn: SiteSignIn) {
    const token = yield* signIns.csrfToken(signIn);
    if (request.header("origin") !== origin || request.header("x-csrf-token") !== token) {
      return yield* new Forbidden({ reason: "csrf" });
    }
  });

  const signedIn = <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: OwnerInput<P>) => Effect.Effect<JsonOf<S>, PublicError>,
  ) => {
    const [readRaw, read] = [rawReader(route), valuesReader(route)];
    const isRead = route.method === "GET";

    const visitorOf = Effect.fnUntraced(function* (context: RequestContext) {
      const signIn = yield* signIns.find("dashboard", site.session.read(context));
      return yield* memberOf({ signIn, context }, route.role ?? "owner", context.query["chatId"]);
    });

    const answer = Effect.fnUntraced(function* (
      context: RequestContext,
      arrived: SignedInMember,
      holdsUntil: number,
      sent: Result.Result<RawValues, InvalidBody>,
    ) {
      const isFresh = isRead || (yield* monotonicMillis) < holdsUntil;
      const member = isFresh ? arrived : yield* visitorOf(context);
      const { name } = member.owner.account;
      if (!isRead) {
        yield* checkWrite(context, member.signIn);
        if (!isOfSignIn(route.path)) yield* limits.admitDashboardWrite(name);
      }
      yield* requireTier(route, member);
      const raw = yield* Effect.fromResult(sent);
      // Long lists take as long to decode as to store.
      const values = yield* read(raw);
      return yield* chargeTo(name)(handler({ ...member, values, context }));
    });

    return Effect.fnUntraced(function* (context: RequestContext) {
      yield* limits.admitAddress(context.address, "second");
      const found = yield* places.find(visitorOf(context));
      // The sign-in and the role may end while a slow body arrives, or while the request waits for its place.
      const holdsUntil = context.request.hasArrived === true ? (yield* monotonicMillis) + foundFor : 0;
      const asker = askerOf(found);
      const answered = answer(context, found, holdsUntil, yield* Effect.result(readRaw(context, null)));
      return yield* isRead ? readInPlace(places, asker, answered) : places.form(asker, answered);
    });
  };

  /** The checks of `signedIn`, and for requests with a key the checks of keys, which refuse a key that the route does not take. */
  const bound = <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: ManagerInput<P>) => Effect.Effect<JsonOf<S>, PublicError>,
  ): BoundRoute => {
    const { method, path } = route;
    const bySignIn = signedIn(route, handler);
    const isRead = method === "GET";
    const byKey = checked(
      keyedRoute(route),
      ({ values, key, context }) => {
        const own = { ...values, ...("pid" in route.parameters && { pid: values["pid"] ?? key.scope.pid }) };
        const { account } = key.scope;
        const answer = Effect.flatMap(managing(key, context.requestId), (owner) =>
          handler({ values: own as ParameterValues<P>, context, owner, role: null }),
        ).pipe(chargeTo(account));
        const asker = { account, person: key.id };
        return answering(context, isRead ? readInPlace(places, asker, answer) : answer);
      },
      { place: isRead ? null : "form" },
    );
    const answer = withContext(route, (context) =>
      render(
        envelopeV2,
        observers,
        hasKey(context) ? byKey(context) : answering(context, asVisitor(context, bySignIn(context))),
      ),
    );
    return { method, path, answer };
  };

  const operation: MakeOperation = <P extends Parameters, S extends Schema.Top, K extends KeyAccess, A>(
    route: DashboardRoute<P, S, K>,
    run: (input: InputOf<P, K>) => Answering<A, PublicError>,
    toData?: (result: A, input: InputOf<P, K>) => DataOf<S>,
  ) => {
    // A key reaches the handlers of routes that take one.
    const runAny = (input: ManagerInput<P>) => run(input as InputOf<P, K>);
    const toJson = (result: A, input: ManagerInput<P>) => {
      const data = toData === undefined ? result : toData(result, input as InputOf<P, K>);
      if (data instanceof HttpResponse) return data;
      return (route.status === undefined ? { data } : { data, status: route.status }) as JsonOf<S>;
    };
    return {
      json: bound(route, (input) => Effect.map(asEffect(runAny(input)), (result) => toJson(result, input))),
      ...formOperation(route, runAny),
    };
  };
  return operation;
});

/** Makes an operation of a form alone: what it does is a part of a JSON route, or nothing that a program needs. */
export const formOperation = <P extends Parameters, A>(
  row: Pick<Route<P>, "role" | "tier" | "parameters" | "requiresOneOf">,
  run: (input: OwnerInput<P>) => Answering<A, PublicError>,
) => {
  const { role: needed = "owner" } = row;
  const read = valuesReader({ ...row, source: "body" });

  const requireRights = (
    visitor: OwnerVisitor,
    { chatId: subject }: RawValues,
  ): Effect.Effect<void, Forbidden | PremiumRequired> =>
    mayUse(needed, visitor, subject, visitor.owner.chatId)
      ? requireTier(row, visitor)
      : new Forbidden({ reason: "role" });

  const answer = (visitor: OwnerVisitor, values: ParameterValues<P>) => asEffect(run({ ...visitor, values }));

  return {
    /**
     * Reads the fields of a form as the route reads its body, and runs the handler. `others` are values that the form
     * has in another form than the body.
     */
    submit: Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields, others: RawValues = {}) {
      const raw = { ...formValues(row, fields, visitor.context.query), ...others };
      yield* requireRights(visitor, raw);
      const values = yield* Effect.mapError(read(raw), (error) => explained(error, row, raw));
      return yield* answer(visitor, values);
    }),

    /** Runs the handler for a form that the page has read itself. */
    run: (visitor: OwnerVisitor, values: ParameterValues<P>) =>
      Effect.andThen(requireRights(visitor, values), answer(visitor, values)),
  };
};

const requireTier = ({ tier }: Pick<Route, "tier">, { owner: { account } }: SignedInMember) =>
  tier === undefined || account.tier === "premium" ? Effect.void : new PremiumRequired();

type AnyOperation = { readonly json: BoundRoute } | { readonly run: unknown };

export const jsonRoutes = (
  operations: Readonly<Record<string, AnyOperation>> | ReadonlyArray<AnyOperation>,
): ReadonlyArray<BoundRoute> =>
  Object.values<AnyOperation>(operations).flatMap((each) => ("json" in each ? each.json : []));

/** Proxies that ask for a password of their own send `Authorization: Basic` beside the cookie. */
const hasKey = ({ request }: RequestContext): boolean =>
  /^bearer(?: |$)/i.test(request.header("authorization") ?? "");

/** Returns the route as requests with a key see it: they may leave out the key's own scope. */
const keyedRoute = (route: Route): Route => ({
  ...route,
  parameters: Record.map(route.parameters, (parameter) =>
    parameter.isOfKey ? optional(parameter) : parameter,
  ),
});

/** Whether a route changes only the sign-in: it leaves or switches the account, so the account's limit is no bar. */
const isOfSignIn = (path: string): boolean => path.startsWith("/dashboard/api/session");

/** Returns a function that reads values, such as the fields of a form, by the rules of a route. */
export const valuesReader = <P extends Parameters>(
  route: Pick<Route<P>, "parameters" | "source" | "requiresOneOf">,
) => {
  const read = parameterReader(route);
  // Values whose `scope` is "guild" must also have a `guildId`.
  return (raw: RawValues) => Effect.fromResult(read(raw, raw["scope"] === "guild" ? "guild" : "global"));
};
