/** Whether this is a run of `npm run proof`, which uses more rounds, larger data and servers in separate processes. */
export const isProof: boolean = process.env["ACCOUNTLINK_TEST_PROOF"] === "1";
