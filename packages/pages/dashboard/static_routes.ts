import { type BoundRoute, makeStaticDocument, onceMade, withHeaders } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { script } from "./look/script.ts";
import { style } from "./look/style.ts";
import { paths } from "./paths.ts";

/** Requests for the style and the script are not counted: the page for an exceeded limit needs its style. */
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
