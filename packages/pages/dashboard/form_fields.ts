/** The fields of a form, or of a query. */
import { groupBy } from "@accountlink/core/group_by";

export interface Fields {
  /** Returns the first value of a field; empty if it was not sent. */
  (name: string): string;
  /** Returns every value of a field, such as the ticked boxes of a list. */
  readonly all: (name: string) => ReadonlyArray<string>;
}

export const fieldsFrom = (all: Fields["all"]): Fields =>
  Object.assign((name: string) => all(name)[0] ?? "", { all });

/** Groups the fields: a form has up to 30,000, and the page of rules reads 3,000 by their names. @internal */
export const fieldsOf = (form: URLSearchParams): Fields => {
  const values = groupBy(
    form,
    ([name]) => name,
    ([, value]) => value,
  );
  return fieldsFrom((name) => values.get(name) ?? []);
};
