/**
 * The URL of a server, or an error. Credentials in it are neither sent nor printed: messages of command lines and
 * logs of agents are read by others.
 */
export function serverAddress(text: string): { readonly url: string } | { readonly told: string } {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const withoutUser = text.replace(/^([a-zA-Z][a-zA-Z0-9+.-]*:\/+)?.*@/s, '$1');
    return { told: JSON.stringify(withoutUser.slice(0, 100)) };
  }
  const url = new URL(text);
  if (url.username === '' && url.password === '') return { url: text };
  url.username = '';
  url.password = '';
  return { url: url.href };
}
