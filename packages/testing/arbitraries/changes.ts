/** Arbitraries of audit entries and of key usage. */
import { type Actor, type AuditEntry, auditActions, type WriteOrigin } from "@accountlink/core/audit";
import { type KeyUsage, usageGroups } from "@accountlink/core/usage";
import {
  type Arbitrary,
  constant,
  constantFrom,
  dictionary,
  nat,
  oneof,
  record,
  stringMatching,
} from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, keyId, pid } from "./ids.ts";
import { millis, name, text } from "./texts.ts";

export const actor: Arbitrary<Actor> = oneof(
  record({ type: constant("key"), id: keyId }),
  record({ type: constant("operator"), id: name }),
  record({ type: constant("account"), id: name, member: orNull(chatId) }),
  record({ type: constant("user"), id: chatId }),
);

const requestId = orNull(stringMatching(/^req_[0-9a-z]{20}$/));

export const writeOrigin = recordOf<WriteOrigin>({ actor, requestId });

export const auditEntry = recordOf<AuditEntry>({
  actor,
  requestId,
  sequence: nat(),
  at: millis,
  account: name,
  pid: orNull(pid),
  action: constantFrom(...auditActions),
  details: dictionary(constantFrom("chatId", "previousGameId", "status"), oneof(text, nat(), constant(null))),
});

/**
 * The number of a key's requests to one group of routes.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { passesFilter } from "@accountlink/core/audit";
 * import { addUsage } from "@accountlink/core/usage";
 *
 * const usage = Arbitrary.keyUsage();
 * fc.assert(fc.property(usage, usage, (one, other) => addUsage(one, other).served >= one.served));
 *
 * const byOperator = Arbitrary.actor.filter(({ type }) => type === "operator");
 * const entry = Arbitrary.auditEntry({ actor: byOperator });
 * fc.assert(fc.property(entry, (each) => passesFilter(each)));
 * fc.assert(fc.property(Arbitrary.writeOrigin(), ({ requestId }) => requestId !== ""));
 * ```
 */
export const keyUsage = recordOf<KeyUsage>({
  key: keyId,
  group: constantFrom(...usageGroups),
  served: nat(),
  refused: nat(),
  errors: nat(),
});
