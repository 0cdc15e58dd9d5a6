/** The version in package.json; a test keeps the two equal. */
export const productVersion = '0.1.0';
