/** Waits for the list of a guild's members, which takes a large community many requests. */
import type { GuildId } from "@accountlink/core";
import type {
  Conflict,
  Forbidden,
  MissingParameter,
  PlatformUnavailable,
  StoreUnavailable,
} from "@accountlink/core/errors";
import { type ListProgress, MemberLists } from "@accountlink/core/owners";
import { type Duration, Effect, Option } from "effect";
import type { Html } from "../../html.ts";
import { errorSentence } from "../look/names.ts";

const longestWait = "3 seconds";

/** Why a page lacks what the list of members would give it: the list is refused, or not yet read to its end. */
export type NotListed = { readonly reason: string | Html } | { readonly reading: ListProgress };

type ListError = Conflict | Forbidden | MissingParameter | PlatformUnavailable | StoreUnavailable;

/** Makes a function that runs what needs the list of a guild's members. */
export const makeMemberListWait = Effect.map(
  MemberLists,
  (lists) =>
    <A>(guildId: GuildId, needing: Effect.Effect<A, ListError>, wait: Duration.Input = longestWait) =>
      needing.pipe(
        Effect.catchTag(["Conflict", "Forbidden"], (error) =>
          Effect.succeed<NotListed>({ reason: errorSentence(error) }),
        ),
        Effect.timeoutOption(wait),
        Effect.map(
          Option.getOrElse((): NotListed => ({ reading: lists.progress(guildId) ?? { done: 0, total: 0 } })),
        ),
      ),
);
