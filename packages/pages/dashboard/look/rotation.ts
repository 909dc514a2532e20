/** Rotations of a secret, of which the newest two are good: a second one by mistake ends what programs use. */
import { InvalidParameter } from "@accountlink/core/errors";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { Fields } from "../form_fields.ts";

interface Rotated {
  readonly previousSecretEndsAt: Millis | null;
}

export const hasEarlierSecret = <R extends Rotated>(
  rotated: R,
  now: Millis,
): rotated is R & { readonly previousSecretEndsAt: Millis } =>
  rotated.previousSecretEndsAt !== null && rotated.previousSecretEndsAt > now;

/** Which secrets there were when a page was opened, the hidden field `seen` of its form. */
export const secretsOf = ({ previousSecretEndsAt }: Rotated): string => String(previousSecretEndsAt);

/** Refuses a rotation by a page that is older than another rotation. @param name the field that the refusal names */
export const requireSeen = (what: string, name: string) => (rotated: Rotated, fields: Fields) =>
  rotated.previousSecretEndsAt === null || fields.all("seen").every((seen) => seen === secretsOf(rotated))
    ? Effect.succeed({})
    : InvalidParameter.one(name, `the ${what} was rotated after you opened the page`);
