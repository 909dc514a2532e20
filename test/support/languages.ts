/** The messages of the pages, in each language. */
import { Languages } from "@accountlink/pages/languages";
import { Effect } from "effect";

export const languageOf = (tag: string) =>
  Languages.pipe(
    Effect.flatMap((languages) => languages.get(tag)),
    Effect.provide(Languages.layer),
    Effect.runPromise,
  );

export const english = await languageOf("en");
