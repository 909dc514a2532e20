/** How our own messages are written, beyond what a language needs. */
import type { Messages } from "./language.ts";
import { needsOf } from "./message_faults.ts";

/** Returns the writing faults of messages, one line each. The service starts with such faults in an embedder's files. */
export const writingFaults = (tag: string, messages: Messages, english: Messages): ReadonlyArray<string> =>
  Object.entries(messages).flatMap(([key, message]) => [
    ...(/^fr\b/.test(tag) && /[ \u00a0][:;?!»]|«[ \u00a0]/.test(message)
      ? [`${key} has a plain or a wide blank at a sign: use the narrow U+202F, where no line breaks`]
      : []),
    ...singularFaults(tag, message, english[key] ?? "").map((fault) => `${key}: ${fault}`),
  ]);

/** The form "one" of Russian is also of 21, so a message that shows no number needs a form for 1 alone. */
const singularFaults = (tag: string, message: string, source: string): ReadonlyArray<string> => {
  if (new Intl.PluralRules(tag).select(21) !== "one") return [];
  const counted = needsOf("en", source).ways.flatMap(({ shown }) => [...shown]);
  return needsOf(tag, message).plurals.flatMap((forms) =>
    counted.length > 0 || forms.includes("=1") ? [] : ["=1 is missing, since one is also 21"],
  );
};
