# SPDX-License-Identifier: Apache-2.0
# ${name}: options of the GAP9 SDK, as pulp-platform/Deeploy uses them (DeeployTest/Platforms/GAP9/sdk.config).
# The platform is given to cmake: -DCONFIG_PLATFORM_GVSOC=y or -DCONFIG_PLATFORM_BOARD=y.
CONFIG_BOARD_GAP9MOD_V1_0_B=y
CONFIG_BOARD_GAP9EVK_V1_3=y
CONFIG_DRIVER_CLUSTER=y
CONFIG_ENABLE_LIBMATH=y
% if stores or areas:
% if stores:
# Streamed constants: ${", ".join(store.file for store in stores)} from the read-only file system into the external RAM.
% else:
# Activations in the external RAM.
% endif
CONFIG_DRIVER_TYPE_FLASH=y
CONFIG_DRIVER_TYPE_RAM=y
CONFIG_DRIVER_MRAM=y
CONFIG_DRIVER_READFS=y
CONFIG_READFS_FLASH_TYPE_OSPI=y
CONFIG_DRIVER_APS256XXN=y
CONFIG_DRIVER_RAM_API=y
% endif
