/**
 * The page on which a look-up is tried: the service asks itself, with the key and the address of
 * whoever typed the key.
 */
import { keyIdOf } from "@accountlink/core/keys";
import {
  emptyTrialForm,
  paths,
  questions,
  type TrialForm,
  type TrialResult,
  trialPage,
  withQuery,
} from "@accountlink/dashboard";
import { Effect, type Scope } from "effect";
import { HttpServerRequest, HttpServerResponse } from "effect/http";
import type { ServedContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { type Fields, type OwnerPages } from "./owner_pages.ts";

/** The routes of look-ups. */
export type Lookups = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>;

export const trialRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages, lookups: Lookups) {
  const { publicUrl } = yield* HttpSettings;

  const tried = Effect.fnUntraced(function* (context: ServedContext, trial: TrialForm, key: string) {
    const path = pathOf(trial);
    const request = requestAs(context, path, key);
    const response = HttpServerResponse.toWeb(
      yield* Effect.scoped(Effect.provideService(lookups, HttpServerRequest.HttpServerRequest, request)),
    );
    const body: unknown = yield* Effect.promise(() => response.json());
    return {
      url: publicUrl,
      request: { method: "GET", url: `${publicUrl}${path}` },
      status: response.status,
      headers: [...response.headers],
      body: JSON.stringify(body, null, 2),
    } satisfies TrialResult;
  });

  return [
    page(paths.trial, (visitor) => Effect.succeed(trialPage(emptyTrialForm, visitor, null, []))),
    form(
      paths.trial,
      Effect.fnUntraced(function* (visitor, fields) {
        const trial = trialOf(fields);
        const key = fields("key").trim();
        const problems = problemsOf(trial, key);
        const result = problems.length === 0 ? yield* tried(visitor.context, trial, key) : null;
        return trialPage(trial, visitor, result, problems);
      }),
    ),
  ];
});

const trialOf = (fields: Fields): TrialForm => {
  const question = fields("question");
  return {
    question: question === "game" || question === "status" ? question : "chat",
    id: fields("id").trim(),
    guildId: fields("guildId").trim(),
    resolved: fields("resolved") === "true",
  };
};

/** What only the form knows; the service judges everything else. */
const problemsOf = ({ id }: TrialForm, key: string) => [
  ...(keyIdOf(key) === null
    ? [{ name: "key", reason: 'expected "alk_", 12 characters, "_" and 43 more' }]
    : []),
  ...(id === "" ? [{ name: "id", reason: "expected the ID of an account" }] : []),
];

const pathOf = ({ question, id, guildId, resolved }: TrialForm): string => {
  const { path, subject } = questions[question];
  return withQuery(path, { [subject]: id, guildId, resolved: resolved ? "true" : null });
};

/** A request from the same address, so that the rules and limits of the key hold. */
const requestAs = ({ request }: ServedContext, path: string, key: string) => {
  const forwarded = request.headers["x-forwarded-for"];
  const headers = {
    authorization: `Bearer ${key}`,
    ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  };
  return HttpServerRequest.fromWeb(new Request(`http://localhost${path}`, { headers })).modify({
    remoteAddress: request.remoteAddress,
  });
};
