/** The English messages of the pages. */
import { Languages } from "@accountlink/pages/languages";
import { Effect } from "effect";

export const english = await Languages.pipe(
  Effect.flatMap((languages) => languages.get("en")),
  Effect.provide(Languages.layer),
  Effect.runPromise,
);
