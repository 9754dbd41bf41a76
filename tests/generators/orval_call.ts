// SPDX-License-Identifier: Apache-2.0
// Every call of the client that orval generates: adds the base URL and the key.
import {base, key} from "./world";

export const call = async <T>(path: string, options: RequestInit): Promise<T> => {
    const headers = new Headers(options.headers);
    headers.set("Authorization", `Bearer ${key}`);
    const answer = await fetch(base + path, {...options, headers});
    return {status: answer.status, data: await answer.json(), headers: answer.headers} as T;
};
