/**
 * How it is told that a server cannot listen where it should.
 */
import { InvalidConfig, type VariableName } from "../config.ts";

/** What is wrong with the port, by the code of the error. Anything else is wrong with the host. */
const portProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use",
  EACCES: "this user may not use",
};

/**
 * The refusal that names the variable to correct.
 *
 * @param portVariable the variable that the port comes from
 * @param cause what the network said
 */
export const listenRefused = (
  portVariable: VariableName,
  { host, port }: { readonly host: string; readonly port: number },
  cause: unknown,
): InvalidConfig => {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const problem = portProblems[code];
  return new InvalidConfig({
    problem:
      problem === undefined
        ? `ACCOUNTLINK_HOST is "${host}", expected an address of this machine (${message})`
        : `${portVariable} is "${port}", which ${problem} on "${host}", expected a free port`,
  });
};
