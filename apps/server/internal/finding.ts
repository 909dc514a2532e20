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

/**
 * Whether this release can use a schema.
 *
 * @param it what has the schema
 * @param sound the finding when it is up to date, but for the version
 */
export const judgeSchema = (
  it: string,
  { version, newest }: { readonly version: number; readonly newest: number },
  sound: string,
): Finding => {
  if (version > newest) {
    const finding = `${it} has schema version ${version}, and this release knows ${newest}`;
    return fail("database", finding, "Use the release that made it, or a later one");
  }
  return version < newest
    ? warn(
        "database",
        `${it} has schema version ${version} of ${newest}`,
        "Run accountlink migrate, or start the server",
      )
    : ok("database", `${sound}, schema version ${version}`);
};

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
