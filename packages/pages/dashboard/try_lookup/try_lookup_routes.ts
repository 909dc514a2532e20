/**
 * The page on which an owner tries a lookup. The service sends the request to itself, with the API key that the owner
 * entered and with the owner's IP address.
 */
import { keyIdOf } from "@accountlink/core/keys";
import {
  type HttpRequest,
  HttpSettings,
  type RequestContext,
  type Router,
  textOf,
} from "@accountlink/http/for_pages";
import { Effect, Stream } from "effect";
import { type Fields, type OwnerPages } from "../owner_pages.ts";
import { paths, withQuery } from "../paths.ts";
import {
  emptyLookupForm,
  type LookupForm,
  type LookupResult,
  questions,
  tryLookupPage,
} from "./try_lookup_page.ts";

export const tryLookupRoutes = Effect.fnUntraced(function* (
  { page, form }: OwnerPages,
  makeLookups: () => Router,
) {
  const { publicUrl } = yield* HttpSettings;

  const tried = Effect.fnUntraced(function* (context: RequestContext, lookup: LookupForm, key: string) {
    const path = pathOf(lookup);
    const found = makeLookups().find("GET", path);
    if (found === undefined) return yield* Effect.die(`No lookup has the path ${path}`);
    const response = yield* found.answer(requestAs(context, path, key), found.query);
    const { status, headers } = response;
    return {
      url: publicUrl,
      request: { method: "GET", url: `${publicUrl}${path}` },
      status,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as const),
      body: JSON.stringify(JSON.parse(textOf(response)), null, 2),
    } satisfies LookupResult;
  });

  return [
    page(paths.tryLookup, (visitor) => Effect.succeed(tryLookupPage(emptyLookupForm, visitor, null, []))),
    form(
      paths.tryLookup,
      Effect.fnUntraced(function* (visitor, fields) {
        const lookup = formOf(fields);
        const key = fields("key").trim();
        const problems = problemsOf(lookup, key);
        const result = problems.length === 0 ? yield* tried(visitor.context, lookup, key) : null;
        return tryLookupPage(lookup, visitor, result, problems);
      }),
    ),
  ];
});

const formOf = (fields: Fields): LookupForm => {
  const question = fields("question");
  return {
    question: question === "game" || question === "status" ? question : "chat",
    id: fields("id").trim(),
    guildId: fields("guildId").trim(),
    resolved: fields("resolved") === "true",
  };
};

/** Checks only the form itself; the service validates everything else. */
const problemsOf = ({ id }: LookupForm, key: string) => [
  ...(keyIdOf(key) === null ? [{ name: "key", reason: "expected a whole key, which begins with alk_" }] : []),
  ...(id === "" ? [{ name: "id", reason: "expected the ID of an account" }] : []),
];

const pathOf = ({ question, id, guildId, resolved }: LookupForm): string => {
  const { path, subject } = questions[question];
  return withQuery(path, { [subject]: id, guildId, resolved: resolved ? "true" : null });
};

/** Makes a request with the typed key and the visitor's address, so that the rules and limits of the key apply. */
const requestAs = ({ request }: RequestContext, url: string, key: string): HttpRequest => {
  const headers: Readonly<Record<string, string | undefined>> = {
    authorization: `Bearer ${key}`,
    "x-forwarded-for": request.header("x-forwarded-for"),
  };
  return {
    method: "GET",
    url,
    remoteAddress: request.remoteAddress,
    header: (name) => headers[name],
    readBody: () => Effect.succeed(new Uint8Array()),
    streamBody: () => Stream.empty,
  };
};
