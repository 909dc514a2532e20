/**
 * The dated contracts of v2, chosen by the request header `Service-Version`. Handlers know the newest shapes only; an
 * earlier contract is a module of this folder with transforms between its shapes and those.
 */
import type { ParameterProblem } from "@accountlink/core/errors";
import type { EnvelopeV2, RawValues } from "@accountlink/http-api";

type ServiceVersion = (typeof EnvelopeV2.serviceVersions)[number];

export interface DatedContract {
  readonly date: ServiceVersion;
  /** From the parameters of this contract to the newest ones; absent if they are the same. */
  readonly request?: (routeId: string, values: RawValues) => RawValues;
  /** From the newest data to the data of this contract; absent if they are the same. */
  readonly response?: (routeId: string, data: unknown) => unknown;
}

const contracts: Readonly<Record<ServiceVersion, DatedContract>> = {
  "2026-01-01": { date: "2026-01-01" },
};

/** The contract of requests without the header. */
export const defaultContract: DatedContract = contracts["2026-01-01"];

const byHeader: ReadonlyMap<string | undefined, DatedContract> = new Map([
  [undefined, defaultContract],
  ["", defaultContract],
  ...Object.entries(contracts),
]);

/** Finds the contract that a header asks for; undefined for an unknown one. */
export const contractFor = (header: string | undefined): DatedContract | undefined => byHeader.get(header);

/** What is wrong with a header that asks for an unknown contract. */
export const unknownContract: ParameterProblem = {
  name: "Service-Version",
  reason: `accepted values: ${Object.keys(contracts).join(", ")}`,
};
