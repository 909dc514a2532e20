/** The style sheet and the script of the dashboard's pages, made on their first request. */
import { paths, script, style } from "@accountlink/dashboard";
import { Effect } from "effect";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import { withHeaders } from "../pipeline/pipeline.ts";
import { makeStaticDocument, onceMade } from "../static_document.ts";

/** Not counted, so that the pages for a limit get them too. */
export const staticRoutes = (): ReadonlyArray<BoundRoute> => [
  route(paths.style, style, "text/css"),
  route(paths.script, script, "text/javascript"),
];

const route = (path: `/${string}`, text: string, type: string): BoundRoute => {
  const document = onceMade(() => makeStaticDocument(text, { contentType: `${type}; charset=utf-8` }));
  const answer = withHeaders("dashboard", (request) =>
    Effect.map(
      Effect.promise(() => document(path)),
      (answerTo) => answerTo(request),
    ),
  );
  return { method: "GET", path, answer };
};
