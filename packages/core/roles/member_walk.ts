/** Walks through the members of a guild in slices, so that other work gets its turn in between. */
import { Effect } from "effect";
import type { ChatId, GuildId } from "../ids.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { ChatRoles, MembersPage, RoleMember } from "../platforms/chat_platform.ts";
import { bounds } from "../turns/mod.ts";
import type { PatientSteps, WorkOver } from "./patient_steps.ts";

/** The number of members that are visited together. */
const sliceSize = 50;

/** The shortest pause between slices, in milliseconds. */
const shortestPause = 20;

export interface Walk<E> {
  readonly guildId: GuildId;
  /** The member to begin after; null for the first member. */
  readonly after: ChatId | null;
  readonly steps: PatientSteps;
  readonly isVisited?: (member: RoleMember) => boolean;
  /** If it fails because something does not answer, the members are read and visited again later. */
  readonly visit: (slice: ReadonlyArray<RoleMember>) => Effect.Effect<void, E>;
}

/** Visits the members in the order of their IDs. Fails with `MembersHidden` if the platform does not list them. */
export const walkMembers = Effect.fnUntraced(function* <E>(
  { membersPage }: ChatRoles,
  { guildId, steps, visit, isVisited = () => true, ...walk }: Walk<E>,
) {
  let { after } = walk;
  /** The `next` of the page that `rest` is of. Undefined before the first page, and after a failure. */
  let next: ChatId | null | undefined;
  let rest: ReadonlyArray<RoleMember> = [];
  // A guild of one slice needs no pause, for which the owner who asked for its preview would wait.
  let pause: Effect.Effect<void, WorkOver> = Effect.void;

  /** Visits the next members, and returns them; none after the last one. */
  const visitNext = Effect.gen(function* () {
    while (rest.length === 0) {
      if (next === null) return [];
      after = next ?? after;
      const page: MembersPage = yield* membersPage(guildId, after);
      rest = page.members.filter((member) => member.isPending !== true && isVisited(member));
      next = page.next;
    }
    const slice = rest.slice(0, sliceSize);
    yield* pause;
    const began = yield* monotonicMillis;
    yield* visit(slice);
    const took = (yield* monotonicMillis) - began;
    // As long as the visit took, so that it takes half of the process at most.
    const rested = Math.min(bounds.workedAtOnce, Math.max(shortestPause, took));
    pause = Effect.andThen(Effect.sleep(rested), steps.goOn);
    return slice;
  }).pipe(
    Effect.tapError(() =>
      Effect.sync(() => {
        rest = [];
        next = undefined;
      }),
    ),
  );

  while (true) {
    const last = (yield* steps.step(visitNext)).at(-1);
    if (last === undefined) return;
    rest = rest.slice(sliceSize);
    after = last.chatId;
  }
});
