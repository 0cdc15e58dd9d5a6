/** Host and port of `127.0.0.1:4646` or `[::1]:0`. */
export function listenParts(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const name = match?.[1] ?? match?.[2];
  return name === undefined || port > 65_535 ? undefined : { host: name, port };
}
