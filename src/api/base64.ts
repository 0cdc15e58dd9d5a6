/** Bytes in base 64, without a Node module: clients run in browsers too. */
export function base64From(bytes: Uint8Array): string {
  let characters = '';
  for (let at = 0; at < bytes.length; at += 4096) characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(characters);
}
