/* Base 64 without a Node module: clients run in browsers too. */

export function base64From(bytes: Uint8Array): string {
  let characters = '';
  for (let at = 0; at < bytes.length; at += 4096) characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(characters);
}

/** Undefined for a string that is not base 64. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  let characters: string;
  try {
    characters = atob(text);
  } catch {
    return undefined;
  }
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
