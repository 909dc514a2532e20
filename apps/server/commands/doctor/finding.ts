export interface Finding {
  /** `warn` works for now, `fail` does not. */
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly finding: string;
  /** Null for `ok`. */
  readonly advice: string | null;
}

/**
 * Whether this release supports a schema.
 *
 * @param it the database that has the schema
 * @param sound the start of the finding if the schema is up to date
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
