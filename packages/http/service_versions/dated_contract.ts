/**
 * A dated contract of v2: transforms between its shapes and the newest ones.
 */
import type { EnvelopeV2, RawValues } from "@accountlink/http-api";

export interface DatedContract {
  readonly date: (typeof EnvelopeV2.serviceVersions)[number];
  /** From the parameters of this contract to the newest ones. */
  readonly request: (routeId: string, values: RawValues) => RawValues;
  /** From the newest data to the data of this contract. */
  readonly response: (routeId: string, data: unknown) => unknown;
}
