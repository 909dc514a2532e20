import { placeOf, type Sighting } from "../addresses/sighting.ts";
import type { Pid } from "../ids.ts";
import { placeOrder } from "../roles/role_plan_store.ts";
import type { UserRecords } from "./user_store.ts";

const byText = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1);

interface ScopedSighting {
  readonly pid: Pid;
  readonly sighting: Sighting;
}

const byTime = (one: ScopedSighting, other: ScopedSighting): number =>
  one.sighting.seenAt - other.sighting.seenAt ||
  byText(one.pid, other.pid) ||
  byText(placeOf(one.sighting), placeOf(other.sighting));

/**
 * Sorts a user's data: accounts by name; links, reviews and roles by pid; the rest by time, ties by id. Memberships keep
 * their order. @internal
 */
export const inOrder = (found: UserRecords): UserRecords => ({
  accounts: found.accounts.toSorted((one, other) => byText(one.name, other.name)),
  memberships: found.memberships,
  records: found.records.toSorted((one, other) => byText(one.scope.pid, other.scope.pid)),
  sightings: found.sightings.toSorted(byTime),
  browsers: found.browsers.toSorted(byTime),
  reviews: found.reviews.toSorted(
    (one, other) =>
      byText(one.pid, other.pid) ||
      other.review.at - one.review.at ||
      byText(one.review.otherChatId, other.review.otherChatId),
  ),
  roles: found.roles.toSorted(placeOrder),
  sessions: found.sessions.toSorted(
    (one, other) => one.createdAt - other.createdAt || byText(one.id, other.id),
  ),
  flows: found.flows.toSorted((one, other) => one.expiresAt - other.expiresAt || byText(one.id, other.id)),
  signIns: found.signIns.toSorted(
    (one, other) => one.createdAt - other.createdAt || byText(one.id, other.id),
  ),
  entries: found.entries.toSorted((one, other) => one.sequence - other.sequence),
});
