/** The host misused the transaction of the store: nothing of the operation was stored. */
export class HostTransactionError extends Error {}
