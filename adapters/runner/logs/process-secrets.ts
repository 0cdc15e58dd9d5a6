import { passwordsIn } from '../../../src/agent/output/output-tail.js';

/** Parts of names of variables that hold secrets, and ends of names of those that only say where one is. */
const secretName =
  /(?:^|_)(?:tokens?|secrets?|(?:PG)?password|passwd|passphrase|pass|credentials?|(?:api|access|private|secret|encryption|signing)?_?keys?)(?:_|$)/i;
const placeName = /_(?:file|path|dir|directory|url|id|name|ttl)$/i;
/** Shorter values occur in any output by chance. */
const shortest = 8;

/**
 * Secrets in the environment of this process: values of variables that are named like a secret, and passwords in URLs. Functions can print
 * them, and commands that inherit variables.
 */
export function processSecrets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    secretName.test(name) && !placeName.test(name) ? [value] : passwordsIn(value),
  );
  return secrets.filter(({ length }) => length >= shortest);
}
