export interface Finding {
  /** `warn`: the server works for now. `fail`: it does not work. */
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly finding: string;
  readonly advice: string | null;
  /** The ID of the deployment, derived from its root key. `/readyz` of its servers shows the same ID. */
  readonly deployment?: string;
  /** What a start makes, and a refused start does not. */
  readonly isPromise?: true;
}

const make =
  (status: Finding["status"]) =>
  (check: string, finding: string, advice: string | null = null): Finding => ({
    status,
    check,
    finding,
    advice,
  });

export const ok: (check: string, finding: string) => Finding = make("ok");
export const promise = (check: string, finding = "there is none yet, and one will be made"): Finding => ({
  ...ok(check, finding),
  isPromise: true,
});
export const warn = make("warn");
export const fail = make("fail");
