/**
 * The style sheet and the script of the dashboard's pages.
 */
import { paths, script, style } from "@accountlink/dashboard";
import { Effect } from "effect";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import { withHeaders } from "../pipeline/pipeline.ts";
import { makeStaticDocument, type StaticDocument } from "../static_document.ts";

/** Not counted, so that the pages for a limit get them too. */
export const staticRoutes = Effect.gen(function* () {
  return [
    route(paths.style, yield* documentOf(style, "text/css")),
    route(paths.script, yield* documentOf(script, "text/javascript")),
  ];
});

const documentOf = (text: string, type: string) =>
  Effect.promise(() => makeStaticDocument(text, { contentType: `${type}; charset=utf-8` }));

const route = (path: `/${string}`, document: StaticDocument): BoundRoute => ({
  method: "GET",
  path,
  answer: withHeaders("dashboard", (request) => Effect.succeed(document(request))),
});
