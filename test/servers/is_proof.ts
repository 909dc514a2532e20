/**
 * Whether this is a run of `npm run proof`, which has time: tests take more rounds and larger data then, and servers
 * are processes of their own.
 */
export const isProof: boolean = process.env["ACCOUNTLINK_TEST_PROOF"] === "1";
