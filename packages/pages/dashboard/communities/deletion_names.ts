/** The names that an owner types to confirm a deletion. */
import { InvalidParameter } from "@accountlink/core/errors";
import { type Account, shownName } from "@accountlink/core/keys";
import { Effect } from "effect";
import { makeNamed } from "../owner_pages.ts";

/**
 * Returns a function that lists the names by which an owner may call an account. The first one is the same in every
 * language, so pages ask for it.
 */
export const makeDeletionNames = Effect.map(makeNamed, (named) =>
  Effect.fnUntraced(function* (account: Account) {
    const found = yield* named(account);
    const others = [account.name, shownName(account)] as const;
    if (found === null) return others;
    if ("title" in found) return [found.title, ...others] as const;
    return [found.owner, `${found.owner}’s account`, ...others] as const;
  }),
);

/** Fails unless the text is one of the names of what the request deletes. Keyboards have no typographic apostrophe. */
export const requireConfirmed = (text: string, names: ReadonlyArray<string | null>) =>
  names.some((name) => name !== null && plain(name) === plain(text))
    ? Effect.void
    : InvalidParameter.one("confirm", { is: "confirmation" });

const plain = (text: string): string => text.trim().replaceAll("’", "'");
