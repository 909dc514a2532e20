/**
 * Formats listen errors.
 */
import { InvalidConfig, type VariableName } from "../config/config.ts";

/** Problems of the port, by error code. Any other error is about the host. */
const portProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use",
  EACCES: "this user may not use",
};

/**
 * The error names the variable to correct.
 *
 * @param portVariable the variable of the port
 * @param cause the error of `listen`
 */
export const listenError = (
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
