/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing: a whole layer is linked with it and with the layers below, so that a call upward does not
 * link. */
int main(void)
{
	return 0;
}
