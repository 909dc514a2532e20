/** Checks the promises of the service against the recorded requests and answers of a run. */
import type { Records } from "./behaviour.ts";
import {
  deliveries,
  erasures,
  feedComplete,
  feedFresh,
  feedInOrder,
  hearing,
  hearingEvents,
} from "./feed_checks.ts";
import { limits, revocation } from "./key_checks.ts";
import { answers, linearizability, onePerKey } from "./link_checks.ts";
import type { Broken, Check } from "./promise.ts";
import { admission, offers } from "./proof_checks.ts";
import { pace, reminders, roles } from "./role_checks.ts";
import { teams } from "./team_checks.ts";

const checks: ReadonlyArray<Check> = [
  linearizability,
  onePerKey,
  revocation,
  limits,
  feedInOrder,
  feedComplete,
  feedFresh,
  hearing,
  hearingEvents,
  deliveries,
  erasures,
  roles,
  reminders,
  pace,
  offers,
  admission,
  teams,
];

export const brokenPromises = (records: Records): ReadonlyArray<Broken> => {
  const wrong = answers(records);
  // The other checks can read only answers that match the contract.
  return wrong.length > 0 ? wrong : checks.flatMap((check) => check(records));
};
