/**
 * What the doctor finds.
 */

/** One thing that was looked at. */
export interface Finding {
  /** `warn` works now and may not later; `fail` does not work. */
  readonly status: "ok" | "warn" | "fail";
  /** What was looked at. */
  readonly check: string;
  /** How it is. */
  readonly finding: string;
  /** What to do about it; null when it is well. */
  readonly advice: string | null;
}

export const ok = (check: string, finding: string): Finding => ({
  status: "ok",
  check,
  finding,
  advice: null,
});

export const warn = (check: string, finding: string, advice: string): Finding => ({
  status: "warn",
  check,
  finding,
  advice,
});

export const fail = (check: string, finding: string, advice: string): Finding => ({
  status: "fail",
  check,
  finding,
  advice,
});
