import { newUlid } from "@accountlink/core/ulid";

/** `req_` and a ULID. */
export const newRequestId = (): string => `req_${newUlid(Date.now())}`;
