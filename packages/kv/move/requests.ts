/** Kept answers of requests. */
import { requests } from "../stores/idempotency_store.ts";
import { type Unit, unit } from "./unit.ts";

export const requestUnit: Unit = unit({
  records: requests,
  relation: "idempotency_keys",
  columns: {
    id: "id",
    fingerprint: "fingerprint",
    answer: "answer",
    chat_ids: ["json", "chatIds"],
    ends_at: "endsAt",
  },
});
