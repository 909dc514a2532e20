/**
 * The dated contracts of v2, chosen by the request header `Service-Version`. Handlers know only the newest shapes; each
 * earlier contract is a module in this folder that converts between its shapes and the newest.
 */
import type { ParameterProblem } from "@accountlink/core/errors";
import type { EnvelopeV2, RawValues } from "@accountlink/http-api";

type ServiceVersion = (typeof EnvelopeV2.serviceVersions)[number];

export interface DatedContract {
  readonly date: ServiceVersion;
  /** Converts parameters of this contract to the newest contract; absent if both contracts have the same parameters. */
  readonly request?: (routeId: string, values: RawValues) => RawValues;
  /** Converts data of the newest contract to this contract; absent if both contracts have the same data. */
  readonly response?: (routeId: string, data: unknown) => unknown;
}

const contracts: Readonly<Record<ServiceVersion, DatedContract>> = {
  "2026-01-01": { date: "2026-01-01" },
};

/** The contract of requests without the header. */
export const defaultContract: DatedContract = contracts["2026-01-01"];

/** The contracts by the value of the header. A missing or empty header selects the default contract. */
export const contractsByHeader: ReadonlyMap<string | undefined, DatedContract> = new Map([
  [undefined, defaultContract],
  ["", defaultContract],
  ...Object.entries(contracts),
]);

/** The problem of a request whose header `Service-Version` names an unknown contract. */
export const unknownContract: ParameterProblem = {
  name: "Service-Version",
  reason: `accepted values: ${Object.keys(contracts).join(", ")}`,
};
