/** Whether a host stays on this machine. `localhost` is trusted to be what it says; every other name could resolve to anything. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}
